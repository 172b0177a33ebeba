// What both components build with. Strings only ever become text nodes and attributes.

const SVG = "http://www.w3.org/2000/svg"
const views = new WeakMap()

function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value)
    else put(node, name, value)
  }
  node.append(...children)
  return node
}

/** Set an attribute only when it changes; null takes it away. */
function put(node, name, value) {
  if (value === null || value === undefined) node.removeAttribute(name)
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value)
}

function icon(path) {
  const svg = document.createElementNS(SVG, "svg")
  const line = document.createElementNS(SVG, "path")
  put(svg, "viewBox", "0 0 24 24")
  put(svg, "aria-hidden", "true")
  put(line, "d", path)
  svg.append(line)
  return svg
}

function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole)
}

function behavior() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth"
}

function same(left, right) {
  return JSON.stringify(left) === JSON.stringify(right)
}

/** Streamlit calls the component on every change of its data; the view it built stays. */
function mounting(create) {
  return ({ data, parentElement, setTriggerValue }) => {
    const view = views.get(parentElement) ?? create(parentElement)
    views.set(parentElement, view)
    view.trigger = setTriggerValue
    view.update(data)
    const call = (view.call = {})
    return () => {
      if (view.call !== call) return // a call overtaken by a newer one is cleaned up too
      views.delete(parentElement)
      view.remove()
    }
  }
}
