// Keeps the address bar equal to the shared state, sets the page's language and copies the link.
// Mounted by every run; of several mounts the newest wins, so an older fragment never overwrites a newer state.
export default function (component) {
  const { data, parentElement } = component;
  const newest = Number(document.documentElement.dataset.recmetricsStamp || 0);
  if (data.stamp >= newest) {
    document.documentElement.dataset.recmetricsStamp = String(data.stamp);
    document.documentElement.lang = data.lang;
    const url = new URL(window.location.href);
    url.search = data.query ? "?" + data.query : "";
    if (url.href !== window.location.href) {
      window.history.replaceState(window.history.state, "", url.href);
    }
  }
  parentElement.querySelectorAll("button, input").forEach((old) => old.remove());
  if (!data.button) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy-link";
  button.textContent = data.label;
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(window.location.href);
      button.textContent = data.done;
    } catch (refused) {
      parentElement.querySelectorAll("input").forEach((old) => old.remove());
      const field = document.createElement("input");
      field.value = window.location.href;
      field.readOnly = true;
      field.setAttribute("aria-label", data.label);
      button.after(field);
      field.select();
    }
  };
  parentElement.appendChild(button);
}
