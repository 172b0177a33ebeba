// The page pane: toolbar, the page itself as a picture or as text, and what the reader does to it.

const ZOOM = { step: 1.25, least: 0.5, most: 5 }
const ICONS = {
  previous: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  zoom_out: "M5 12h14",
  zoom_in: "M5 12h14M12 5v14",
  fit: "M3 12h18M7 8l-4 4 4 4M17 8l4 4-4 4",
  close: "M6 6l12 12M18 6L6 18",
}

class PageView {
  constructor(parent) {
    this.zoom = 1
    this.build()
    parent.append(this.root)
    this.resized = new ResizeObserver(() => this.data && placeTags(this.sheet, this.boxed()))
    this.resized.observe(this.sheet)
    this.stopOffer = offerToAsk(this.content, this.ask, (text) => this.trigger("quote", text))
  }

  build() {
    this.picture = el("img", { draggable: "false" })
    this.boxes = el("div", { class: "boxes" })
    this.tags = el("div", { class: "tags" })
    this.lines = el("div", { class: "lines" })
    this.sheet = el("div", { class: "sheet" }, this.picture, this.boxes, this.lines, this.tags)
    this.reading = el("div", { class: "reading" })
    this.content = el("div", { class: "content" }, this.sheet, this.reading)
    this.ask = el("button", { type: "button", class: "ask", hidden: "" })
    this.scroller = el("div", { class: "scroller", tabindex: "0", role: "region" }, this.content, this.ask)
    this.root = el("div", { class: "lectern-page" }, this.buildToolbar(), this.scroller)
    this.root.addEventListener("keydown", (event) => this.pressed(event))
    this.sheet.addEventListener("click", (event) => this.clicked(event))
  }

  buildToolbar() {
    const acts = {
      previous: () => this.turn(this.wanted - 1),
      next: () => this.turn(this.wanted + 1),
      zoom_out: () => this.scale(this.zoom / ZOOM.step),
      zoom_in: () => this.scale(this.zoom * ZOOM.step),
      fit: () => this.scale(1),
      close: () => this.trigger("close", true),
    }
    const button = (name) => {
      return el("button", { type: "button", onclick: acts[name] }, icon(ICONS[name]))
    }
    this.buttons = Object.fromEntries(Object.keys(acts).map((name) => [name, button(name)]))
    const { previous, next, zoom_out, zoom_in, fit, close } = this.buttons
    this.number = el("input", { type: "text", inputmode: "numeric", autocomplete: "off" })
    this.number.addEventListener("change", () => this.turn(Number.parseInt(this.number.value, 10)))
    this.number.addEventListener("focus", () => this.number.select())
    this.pages = el("span", { class: "pages" })
    return el("div", { class: "toolbar", role: "toolbar" },
      el("div", {}, previous, this.number, this.pages, next),
      el("div", {}, zoom_out, zoom_in, fit, close))
  }

  remove() {
    this.resized.disconnect()
    this.stopOffer()
    this.root.remove()
  }

  update(data) {
    const before = this.data
    this.data = data
    // a new session on the server counts from the start again
    if (!before || data.handled < before.handled) this.request = data.handled
    if (data.handled >= this.request) this.wanted = data.page
    if (!same(before?.labels, data.labels)) this.label()
    this.root.style.setProperty("--height", `${data.height}px`)
    const turned = before?.page !== data.page || before?.picture !== data.picture
    this.draw(before, turned)
    this.showPlace()
    if (turned) this.scroller.scrollTop = this.scroller.scrollLeft = 0
    this.reveal(before, turned)
  }

  label() {
    const { labels } = this.data
    for (const [name, button] of Object.entries(this.buttons)) {
      put(button, "aria-label", labels[name])
      put(button, "title", labels[name])
    }
    put(this.number, "aria-label", labels.page)
    this.ask.textContent = labels.ask_about
  }

  draw(before, turned) {
    const { data } = this
    const changed = (...names) => !before || names.some((name) => !same(before[name], data[name]))
    this.sheet.hidden = !data.picture
    this.reading.hidden = !!data.picture
    if (!data.picture) {
      if (turned || changed("text", "marks", "find", "labels")) this.drawText()
      return
    }
    if (turned) {
      this.picture.src = `data:image/png;base64,${data.picture}`
      this.sheet.style.aspectRatio = `${data.size[0]} / ${data.size[1]}`
    }
    if (changed("lines", "size")) {
      const lines = lineLayer(data.lines, data.size)
      this.lines.replaceWith(lines)
      this.lines = lines
    }
    if (changed("marks", "found", "labels")) this.drawMarks()
  }

  drawMarks() {
    const boxes = this.data.found.map((box) => boxNode("found", box))
    for (const mark of this.boxed()) {
      const kind = mark.current ? "mark current" : "mark"
      boxes.push(...mark.boxes.map((box) => boxNode(kind, box)))
    }
    this.boxes.replaceChildren(...boxes)
    this.keepingFocus(() => this.tags.replaceChildren(...this.boxed().map((mark) => this.tag(mark))))
    placeTags(this.sheet, this.boxed())
  }

  drawText() {
    const nodes = readingNodes(this.data.text, this.data.marks, this.data.find, (mark) => this.tag(mark))
    this.keepingFocus(() => this.reading.replaceChildren(...nodes))
  }

  keepingFocus(redraw) {
    const n = document.activeElement?.closest(".tag")?.dataset.n
    const ours = this.content.contains(document.activeElement)
    redraw()
    if (n && ours) this.content.querySelector(`.tag[data-n="${n}"]`)?.focus({ preventScroll: true })
  }

  tag(mark) {
    const label = fill(this.data.labels.citation, { n: mark.shown ?? mark.n })
    return tagNode(mark, label, (n) => this.trigger("cite", n))
  }

  boxed() {
    return this.data.marks.filter((mark) => mark.boxes.length)
  }

  /** Which page one is on or waits for. */
  showPlace() {
    const { pages, page, labels } = this.data
    const words = fill(labels.picture, { page, pages })
    put(this.picture, "alt", words)
    put(this.scroller, "aria-label", words)
    put(this.scroller, "aria-busy", this.wanted === page ? null : "true")
    if (this.numbered !== this.wanted) this.number.value = this.wanted // spares what is being typed
    this.numbered = this.wanted
    this.number.style.width = `${String(pages).length + 2.5}ch`
    this.pages.textContent = `/ ${pages}`
    this.buttons.previous.disabled = this.wanted <= 1
    this.buttons.next.disabled = this.wanted >= pages
  }

  /** Ask for a page. Requests are numbered: an answer to an older one does not count. */
  turn(to) {
    const page = Math.min(Math.max(to || this.wanted, 1), this.data.pages)
    if (page !== this.wanted) {
      this.wanted = page
      this.request += 1
      this.trigger("turn", { page, request: this.request })
    }
    this.numbered = null
    this.showPlace()
  }

  scale(zoom) {
    const { scroller } = this
    const middle = (scroller.scrollTop + scroller.clientHeight / 2) / scroller.scrollHeight
    const centre = (scroller.scrollLeft + scroller.clientWidth / 2) / scroller.scrollWidth
    this.zoom = Math.min(Math.max(zoom, ZOOM.least), ZOOM.most)
    this.ask.hidden = true
    this.content.style.setProperty("--zoom", this.zoom)
    scroller.scrollTop = middle * scroller.scrollHeight - scroller.clientHeight / 2
    scroller.scrollLeft = centre * scroller.scrollWidth - scroller.clientWidth / 2
  }

  pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    if (event.target === this.number && event.key !== "Escape") {
      event.stopPropagation()
      return
    }
    const { previous, next, zoom_in, zoom_out, fit, close } = this.buttons
    const keys = { "+": zoom_in, "=": zoom_in, "-": zoom_out, "0": fit, Escape: close }
    const turns = { ArrowLeft: previous, PageUp: previous, ArrowRight: next, PageDown: next }
    const button = keys[event.key] ?? (event.shiftKey ? null : turns[event.key])
    if (!button) return
    event.preventDefault()
    event.stopPropagation()
    button.click()
  }

  clicked(event) {
    if (event.target.closest(".tag") || !document.getSelection().isCollapsed) return
    const sheet = this.sheet.getBoundingClientRect()
    const x = (event.clientX - sheet.left) / sheet.width
    const n = markAt(this.boxed(), x, (event.clientY - sheet.top) / sheet.height)
    if (n !== undefined) this.trigger("cite", n)
  }

  /** Scroll to the current mark when it is newly opened, else to the first find of a new search. */
  reveal(before, turned) {
    const { data } = this
    const current = ({ marks }) => marks.find((mark) => mark.current)?.n
    const fresh = turned || before.opened !== data.opened || current(before) !== current(data)
    const shown = data.picture ? this.sheet : this.reading
    const mark = shown.querySelector("mark.current, .mark.current")
    const find = shown.querySelector(".found")
    if (fresh && mark) this.scrollTo(mark, before)
    else if (find && (turned || !same(before.found, data.found) || before.find !== data.find)) this.scrollTo(find, before)
  }

  scrollTo(target, before) {
    const [box, pane] = [target.getBoundingClientRect(), this.scroller.getBoundingClientRect()]
    const top = this.scroller.scrollTop + box.top - pane.top - pane.height / 3
    const left = this.scroller.scrollLeft + (box.left + box.right) / 2 - (pane.left + pane.right) / 2
    this.scroller.scrollTo({ top, left, behavior: before ? behavior() : "instant" })
    const away = pane.bottom < 0 || pane.top > innerHeight
    if (before && away) this.root.scrollIntoView({ block: "nearest", behavior: behavior() })
  }
}

export default mounting((parent) => new PageView(parent))
