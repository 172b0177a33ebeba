// Selecting text on a page, and the small button that asks about what is selected.

const LEAST = 3
const MOST = 2000
const SETTLES_MS = 200
const LETTER = "(?:(?![\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}])[\\p{L}\\p{M}\\p{N}])"
const HEAD = new RegExp(`^${LETTER}+`, "u")
const TAIL = new RegExp(`${LETTER}+$`, "u")

/** Lay lines of print over their picture, invisible, so that they can be selected and copied. */
function lineLayer(lines, [width, height]) {
  const pen = document.createElement("canvas").getContext("2d")
  const layer = el("div", { class: "lines" })
  for (const [text, [x0, y0, x1, y1]] of lines) {
    const upright = text.length > 2 && (y1 - y0) * height > 1.5 * (x1 - x0) * width
    const size = upright ? x1 - x0 : y1 - y0
    const points = size * (upright ? width : height)
    const room = upright ? (y1 - y0) * height : (x1 - x0) * width
    pen.font = "100px sans-serif"
    const stretch = room / ((pen.measureText(text).width / 100) * points || 1)
    const line = el("span", { class: upright ? "upright" : null }, text)
    line.style.left = `${x0 * 100}%`
    line.style.top = `${y0 * 100}%`
    line.style.fontSize = `${size * 100}${upright ? "cqw" : "cqh"}`
    line.style.transform = `${upright ? "scaleY" : "scaleX"}(${stretch})`
    layer.append(line, el("br"))
  }
  layer.append(el("div", { class: "stop" }))
  return layer
}

/** What is selected, widened to whole words; Chinese and Japanese have no spaces to go by. */
function chosenText({ startContainer: first, startOffset, endContainer: last, endOffset }) {
  const letters = (node, from, to) => (node.nodeType === Node.TEXT_NODE ? node.data.slice(from, to) : "")
  const head = HEAD.test(letters(first, startOffset)) && letters(first, 0, startOffset).match(TAIL)
  const tail = TAIL.test(letters(last, 0, endOffset)) && letters(last, endOffset).match(HEAD)
  const text = `${head || ""}${document.getSelection()}${tail || ""}`
  return text.replace(/\s+/g, " ").trim()
}

function chosenRange(content) {
  const selection = document.getSelection()
  if (!selection.rangeCount || selection.isCollapsed) return null
  const range = selection.getRangeAt(0)
  return content.contains(range.commonAncestorContainer) ? range : null
}

/**
 * Between absolutely placed lines a browser takes the pointer to be at the layer's end and selects
 * everything up to it. An unselectable stop right behind the moving end of the selection prevents
 * that: then the end lies there. (The way PDF viewers in browsers do it.)
 */
function steady(content, range, before) {
  const stop = content.querySelector(".stop")
  if (!stop) return
  const moving = before && range.compareBoundaryPoints(Range.END_TO_END, before) === 0
  const edge = moving ? range.startContainer : range.endContainer
  const line = (edge.nodeType === Node.TEXT_NODE ? edge.parentElement : edge).closest(".lines > span")
  if (!line) return
  stop.classList.add("raised")
  line.parentElement.insertBefore(stop, moving ? line : line.nextSibling)
}

/** Offer `button` beside a finished selection inside `content`; return what ends the offer. */
function offerToAsk(content, button, onQuote) {
  const over = new AbortController()
  let pressed = false
  let timer = 0
  let before = null
  const settle = () => {
    clearTimeout(timer)
    if (!pressed) timer = setTimeout(() => offer(content, button), SETTLES_MS)
  }
  const release = () => {
    pressed = false
    before = null
    content.querySelector(".stop")?.classList.remove("raised")
    settle()
  }
  const changed = () => {
    const range = chosenRange(content)
    if (range && pressed) steady(content, range, before)
    before = range?.cloneRange() ?? null
    settle()
  }
  const listen = (target, event, act) => target.addEventListener(event, act, { signal: over.signal })
  listen(document, "selectionchange", changed)
  listen(content, "pointerdown", () => { pressed = true })
  listen(document, "pointerup", release)
  listen(document, "pointercancel", release)
  listen(button, "pointerdown", (event) => event.preventDefault()) // keeps the selection
  listen(button, "click", () => {
    onQuote(button.dataset.quote)
    document.getSelection().removeAllRanges()
  })
  return () => { clearTimeout(timer); over.abort() }
}

function offer(content, button) {
  const range = chosenRange(content)
  button.hidden = !range || String(document.getSelection()).trim().length < LEAST
  if (button.hidden) return
  button.dataset.quote = Array.from(chosenText(range)).slice(0, MOST).join("")
  const [origin, end] = [content.getBoundingClientRect(), lastOf(range)]
  const room = content.clientWidth - button.offsetWidth - 4
  const left = end.right - origin.left - button.offsetWidth / 2
  button.style.left = `${content.offsetLeft + Math.max(4, Math.min(left, room))}px`
  button.style.top = `${content.offsetTop + end.bottom - origin.top + 8}px`
}

function lastOf(range) {
  const boxes = Array.from(range.getClientRects()).filter((box) => box.width > 0)
  return boxes.at(-1) ?? range.getBoundingClientRect()
}
