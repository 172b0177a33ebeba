// Citations and finds on a page: over its picture by their boxes, in its text by their quote.

const GAP = 2

function boxNode(kind, [x0, y0, x1, y1]) {
  const node = el("div", { class: kind })
  node.style.left = `${x0 * 100}%`
  node.style.top = `${y0 * 100}%`
  node.style.width = `${(x1 - x0) * 100}%`
  node.style.height = `${(y1 - y0) * 100}%`
  return node
}

function tagNode(mark, label, choose) {
  const properties = { type: "button", class: "tag", "data-n": mark.n, "aria-label": label, title: label }
  const current = mark.current ? "true" : null
  return el("button", { ...properties, "aria-current": current, onclick: () => choose(mark.n) }, `[${mark.shown ?? mark.n}]`)
}

/** The number of the smallest mark under a point of the page, in fractions. */
function markAt(marks, x, y) {
  const area = ([x0, y0, x1, y1]) => (x1 - x0) * (y1 - y0)
  const inside = ([x0, y0, x1, y1]) => x0 <= x && x <= x1 && y0 <= y && y <= y1
  const hits = marks.flatMap((mark) => mark.boxes.filter(inside).map((box) => [area(box), mark.n]))
  return hits.sort((left, right) => left[0] - right[0])[0]?.[1]
}

/** Put every tag left of its mark's first line, below a tag that is there already. */
function placeTags(sheet, marks) {
  const [width, height] = [sheet.clientWidth, sheet.clientHeight]
  const tags = Array.from(sheet.querySelectorAll(".tag"))
  const boxOf = (tag) => marks.find((mark) => String(mark.n) === tag.dataset.n).boxes[0]
  tags.sort((left, right) => boxOf(left)[1] - boxOf(right)[1])
  const placed = []
  for (const tag of tags) {
    const [x0, y0, , y1] = boxOf(tag)
    const [w, h] = [tag.offsetWidth, tag.offsetHeight]
    const left = Math.max(GAP, x0 * width - w - 2 * GAP)
    let top = Math.max(GAP, ((y0 + y1) / 2) * height - h / 2)
    for (const other of placed) {
      const beside = left >= other.left + other.w + GAP || other.left >= left + w + GAP
      if (!beside && top < other.top + h + GAP) top = Math.max(top, other.top + h + GAP)
    }
    placed.push({ left, top, w })
    tag.style.left = `${left}px`
    tag.style.top = `${top}px`
  }
}

/** Where the quotes stand in `text`, white space aside: [{start, end, mark}], none overlapping. */
function quotesIn(text, marks) {
  const origin = Array.from(text.matchAll(/\S/g), (match) => match.index)
  const bare = text.replace(/\s+/g, "")
  const found = []
  const first = (left, right) => Number(right.current) - Number(left.current)
  for (const mark of [...marks].sort(first)) {
    const needle = mark.quote.replace(/\s+/g, "")
    const at = needle ? bare.indexOf(needle) : -1
    if (at < 0) continue
    const place = { start: origin[at], end: origin[at + needle.length - 1] + 1, mark }
    if (found.every((other) => place.end <= other.start || other.end <= place.start)) found.push(place)
  }
  return found.sort((left, right) => left.start - right.start)
}

/** Every place in `text` that reads as `wanted`, case and white space aside, outside the quotes. */
function findsIn(text, wanted, quotes) {
  const shown = Array.from(text.matchAll(/\S/gu))
  const fold = (string) => Array.from(string.replace(/\s+/g, ""), (char) => char.toLowerCase()[0])
  const [bare, needle] = [fold(text), fold(wanted)]
  const found = []
  for (let at = 0; needle.length && at + needle.length <= bare.length; at++) {
    if (!needle.every((char, offset) => bare[at + offset] === char)) continue
    const last = shown[at + needle.length - 1]
    const place = { start: shown[at].index, end: last.index + last[0].length, mark: null }
    if (quotes.every((other) => place.end <= other.start || other.end <= place.start)) found.push(place)
    at += needle.length - 1
  }
  return found
}

/** The text as paragraphs, quotes and finds in <mark>; a quote over several paragraphs has one tag. */
function readingNodes(text, marks, find, tag) {
  const quotes = quotesIn(text, marks)
  const places = [...quotes, ...findsIn(text, find, quotes)].sort((one, other) => one.start - other.start)
  const tagged = new Set()
  return Array.from(text.matchAll(/\S[^]*?(?=\n\s*\n|\s*$)/g), (match) => {
    const paragraph = el("p")
    let at = match.index
    const end = at + match[0].length
    for (const { start, end: stop, mark } of places) {
      const [from, to] = [Math.max(start, at), Math.min(stop, end)]
      if (from >= to) continue
      if (!mark) {
        paragraph.append(text.slice(at, from), el("mark", { class: "found" }, text.slice(from, to)))
        at = to
        continue
      }
      if (!tagged.has(mark.n)) paragraph.append(text.slice(at, from), tag(mark))
      else paragraph.append(text.slice(at, from))
      tagged.add(mark.n)
      paragraph.append(el("mark", { class: mark.current ? "current" : null }, text.slice(from, to)))
      at = to
    }
    paragraph.append(text.slice(at, end))
    return paragraph
  })
}
