"""The roles a column can play, and the names by which people call such columns. Data only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Role:
    """One role. `names` are spelled without blanks, hyphens, dots and underscores, in small letters, best first.

    `many`: several columns may play it. `is_value`: a numeric column kept under the role's name.
    """

    name: str
    names: tuple[str, ...]
    many: bool = False
    is_value: bool = False


_ROLES = (
    Role(
        "user",
        (
            *("user", "userid", "uid", "users", "usercode", "userno", "username", "query", "queryid", "qid", "topic"),
            *("topicid", "srchid", "searchid", "requestid", "impressionid", "sessionid", "session", "customer"),
            *("customerid", "cust", "custid", "member", "memberid", "visitor", "visitorid", "account", "accountid"),
            *("deviceid", "buyer", "buyerid", "reader", "readerid", "reviewerid", "msno", "u", "q"),
            *("用户", "用户id", "用户编号", "用户名", "用户编码", "会员", "会员id", "会员编号", "客户", "客户id"),
            *("查询", "查询id", "请求id", "会话id", "设备id"),
        ),
    ),
    Role(
        "item",
        (
            *("item", "itemid", "iid", "items", "itemcode", "itemno", "movie", "movieid", "doc", "docid", "docno"),
            *("document", "documentid", "product", "productid", "prodid", "asin", "sku", "skuid", "article"),
            *("articleid", "newsid", "song", "songid", "track", "trackid", "video", "videoid", "goods", "goodsid"),
            *("adid", "creativeid", "businessid", "book", "bookid", "isbn", "candidate", "candidateid", "targetitem"),
            *("relevantitems", "recommendeditems", "predicteditems", "itemids", "itemlist", "movieids", "docids"),
            *("productids", "propid", "contentid", "postid", "recipeid", "artistid", "aid", "i", "d"),
            *(
                "商品",
                "商品id",
                "商品编号",
                "商品编码",
                "物品",
                "物品id",
                "物品编号",
                "内容id",
                "视频id",
                "文章id",
                "新闻id",
            ),
            *("广告id", "文档", "文档id", "电影", "电影id", "歌曲id", "店铺id", "候选", "候选id"),
        ),
    ),
    Role(
        "label",
        (
            *("label", "labels", "labelvalue", "relevance", "rel", "relevant", "isrelevant", "relevancelabel", "grade"),
            *("ytrue", "y", "target", "truth", "groundtruth", "gt", "actual", "outcome", "gain", "islabel"),
            *("标签", "标注", "真实标签", "真值", "相关性", "相关度", "等级", "是否相关", "是否正样本"),
            *("clicked", "click", "isclick", "isclicked", "clk", "clicks", "是否点击", "点击"),
            *(
                "converted",
                "conversion",
                "isconverted",
                "purchased",
                "purchase",
                "ispurchase",
                "bought",
                "isbuy",
                "buy",
            ),
            *(
                "是否转化",
                "转化",
                "是否购买",
                "购买",
                "是否下单",
                "下单",
                "liked",
                "like",
                "islike",
                "是否喜欢",
                "喜欢",
            ),
            *("rating", "ratings", "stars", "overall", "评分"),
        ),
    ),
    Role(
        "score",
        (
            *(
                "score",
                "scores",
                "pred",
                "preds",
                "prediction",
                "predictions",
                "predicted",
                "predictedscore",
                "predscore",
            ),
            *(
                "yscore",
                "ypred",
                "yprob",
                "yhat",
                "yproba",
                "prob",
                "proba",
                "probs",
                "probability",
                "p",
                "phat",
                "pctr",
            ),
            *("pcvr", "ctrpred", "logit", "logits", "modelscore", "rankscore", "rankingscore", "similarity", "sim"),
            *("confidence", "estimate", "est", "s"),
            *(
                "预测分数",
                "预测分",
                "预测得分",
                "预测值",
                "预测概率",
                "预估概率",
                "预估分",
                "得分",
                "分数",
                "模型分",
                "模型得分",
            ),
            *("排序分", "概率", "预测", "预估点击率", "预估ctr", "相似度"),
        ),
        many=True,
    ),
    Role(
        "model",
        (
            "model",
            "modelname",
            "modelid",
            "algorithm",
            "algo",
            "system",
            "runid",
            "modelversion",
            "模型",
            "模型名",
            "算法",
        ),
    ),
    Role(
        "time",
        (
            *(
                "time",
                "timestamp",
                "ts",
                "datetime",
                "date",
                "eventtime",
                "eventtimestamp",
                "impressiontime",
                "createdat",
            ),
            *(
                "dt",
                "day",
                "logtime",
                "requesttime",
                "unixreviewtime",
                "tdat",
                "时间",
                "时间戳",
                "日期",
                "曝光时间",
                "事件时间",
                "请求时间",
            ),
        ),
    ),
    Role("split", ("split", "fold", "subset", "datasplit", "partition", "istrain", "划分", "数据集", "数据划分")),
    Role(
        "position",
        ("position", "pos", "slot", "displayposition", "showposition", "位置", "展示位置", "坑位", "曝光位置"),
        is_value=True,
    ),
    Role(
        "propensity",
        ("propensity", "ips", "propensityscore", "exposureprob", "exposureprobability", "倾向", "倾向得分", "曝光概率"),
        is_value=True,
    ),
    Role("click", ("click", "clicks", "clicked", "isclick", "isclicked", "clk", "是否点击", "点击"), is_value=True),
    Role(
        "purchase",
        (
            *(
                "purchase",
                "purchased",
                "ispurchase",
                "bought",
                "buy",
                "isbuy",
                "order",
                "ordered",
                "orders",
                "conversion",
            ),
            *("converted", "isconverted", "是否购买", "购买", "是否下单", "下单", "是否转化", "转化"),
        ),
        is_value=True,
    ),
    Role(
        "amount",
        (
            *("amount", "gmv", "price", "revenue", "sales", "payment", "payamount", "orderamount", "ordervalue"),
            *("金额", "成交额", "成交金额", "支付金额", "订单金额", "价格", "收入", "成交总额"),
        ),
        is_value=True,
    ),
    Role(
        "dwell_seconds",
        (
            *("dwellseconds", "dwell", "dwelltime", "watchtime", "watchseconds", "playtime", "playseconds", "duration"),
            *("durationseconds", "停留时长", "停留秒数", "观看时长", "播放时长", "时长"),
        ),
        is_value=True,
    ),
    Role("rating", ("rating", "ratings", "stars", "satisfaction", "评分", "满意度", "星级"), is_value=True),
    Role(
        "segment",
        (
            *("segment", "segments", "city", "country", "region", "gender", "sex", "age", "agegroup", "agecat", "race"),
            *("device", "devicetype", "platform", "os", "channel", "source", "category", "genre", "tier", "cohort"),
            *("usertype", "isnew", "newuser", "language", "lang", "weekday", "hour", "bucket", "group"),
            *(
                "分群",
                "人群",
                "城市",
                "地区",
                "省份",
                "国家",
                "性别",
                "年龄",
                "年龄段",
                "设备",
                "平台",
                "渠道",
                "来源",
                "类目",
            ),
            *("品类", "类别", "频道", "新老用户", "用户类型", "等级段"),
        ),
        many=True,
    ),
)

ROLES: Mapping[str, Role] = {role.name: role for role in _ROLES}
VALUE_ROLES = tuple(role.name for role in _ROLES if role.is_value)
_SCORE_PATTERN = re.compile(
    r"(score|scores|pred|prediction|prob|proba|logit|pctr|pcvr|model|预测分数?|预测概率|得分|分数|模型)[a-z0-9一-鿿]{1,40}"
    r"|[a-z0-9一-鿿]{1,40}(score|pred|prediction|prob|proba|logit|分数|得分|预测分|概率)"
)


def plain(name: str) -> str:
    """Return a column name as `Role.names` spell it."""
    return re.sub(r"[\s_\-.]+", "", name).casefold()


def rank_as(role: str, name: str) -> int | None:
    """Return how well a column name suits a role by its place in the list of names (0 = best), else None."""
    names = ROLES[role].names
    spelled = plain(name)
    return names.index(spelled) if spelled in names else None


def resembles_score(name: str) -> bool:
    """Whether a name is a score's with something before or after it: `score_a`, `model b`, `ctr_prob`."""
    return _SCORE_PATTERN.fullmatch(plain(name)) is not None


def is_known_name(name: str) -> bool:
    """Whether a cell looks like the header of any role; single letters do not count."""
    return len(name.strip()) > 1 and (any(rank_as(role, name) is not None for role in ROLES) or resembles_score(name))


_TOKEN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[一-鿿]+")
_DISTANCE = frozenset(
    ("distance", "distances", "dist", "loss", "losses", "error", "errors", "err", "mae", "mse", "rmse", "nll")
)
_RANK = frozenset(("rank", "ranks", "ranking"))
_PROBABILITY = frozenset(("prob", "probs", "proba", "probability", "probabilities", "pctr", "pcvr", "yprob", "yproba"))
_COUNTS = frozenset(("count", "counts", "cnt", "num", "exposures", "impressions", "clicks", "purchases", "orders"))
_SCORE_WORDS = frozenset(("score", "scores", "prob", "proba", "logit"))


def _tokens(name: str) -> set[str]:
    return {token.casefold() for token in _TOKEN.findall(name)}


def says_distance(name: str) -> bool:
    """Whether a column's name says that low values are good: distance, loss, error."""
    is_glued = plain(name).endswith(("distance", "loss", "error"))
    return is_glued or bool(_tokens(name) & _DISTANCE) or any(word in name for word in ("距离", "损失", "误差"))


def says_rank(name: str) -> bool:
    """Whether a column's name says that it holds the places of a list, not a score for ranking."""
    tokens = _tokens(name)
    if tokens & _SCORE_WORDS or "分" in name:
        return False
    return bool(tokens & _RANK) or any(word in name for word in ("排名", "名次"))


def says_count(name: str) -> bool:
    """Whether a column's name says that it counts events: exposures, purchases, 点击次数."""
    counts = _tokens(name) & _COUNTS
    return bool(counts) or name.strip().endswith(("次数", "数量", "曝光", "点击量", "曝光量", "浏览量"))


def may_be_count(name: str) -> bool:
    """Whether a name usual for clicks or purchases may count them: `clicks`, `点击`, but not `is_click`, `clicked`."""
    spelled = plain(name)
    is_event = rank_as("click", name) is not None or rank_as("purchase", name) is not None
    return is_event and not (spelled.startswith(("is", "是否")) or spelled.endswith("ed") or spelled == "bought")


def says_probability(name: str) -> bool:
    """Whether a column's name says that it holds probabilities."""
    return bool(_tokens(name) & _PROBABILITY) or plain(name) in {"p", *_PROBABILITY} or "概率" in name
