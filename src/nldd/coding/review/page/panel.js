// Beside the answer: how far one is, what the machine could do by now, and how right it is.

import { problem } from './api.js'
import { timeText } from './app.js'
import { button, count, element, line, muted, percent, put, toAnswer } from './elements.js'
/** @import { App, Audit, Mount, Status } from './shapes.js' */

const EXPORTS = [
  ['csv', 'CSV'],
  ['xlsx', 'Excel'],
  ['jsonl', 'JSON lines'],
  ['label-studio', 'Label Studio'],
]
const SVG = 'http://www.w3.org/2000/svg'

/** @type {Mount} */
export function mount(root, app) {
  const panel = new Panel(app)
  put(root, ...panel.parts)
  panel.show()
  return app.watch((what) => (what === 'status' || what === 'codes') && panel.show())
}

class Panel {
  /** @param {App} app */
  constructor(app) {
    this.app = app
    this._round = app.status.round
    this._progress = element('div')
    this._machine = element('div')
    this._learning = element('p', { class: 'learning', role: 'status' })
    this._learn_button = button('Learn now', () => this._learn())
    this._audit = element('div')
    this._audit_part = part('Is the machine right?', this._audit)
    this.parts = [
      part('Progress', this._progress),
      part('The machine', this._machine, this._learning, this._learn_button),
      this._audit_part,
      part(
        'Take it out',
        muted('All rows with the codes of the machine and of people.'),
        element('p', { class: 'panel-links' }, ...exportLinks()),
      ),
    ]
  }

  show() {
    this._showProgress()
    this._showMachine()
    this._showLearning()
    const { audit } = this.app.status
    this._audit_part.hidden = audit === null
    if (audit) put(this._audit, ...auditParts(audit))
  }

  _showProgress() {
    const { n_queue, n_done, n_open, n_skipped, n_flagged, seconds_left } =
      this.app.status.progress
    const isTimed = n_open > 0 && seconds_left !== null
    const more = [
      n_skipped > 0 && element('a', { href: '#/list/skipped' }, `${count(n_skipped)} skipped`),
      n_flagged > 0 && element('a', { href: '#/list/flagged' }, `${count(n_flagged)} flagged`),
    ]
    put(this._progress,
      element('p', { class: 'figure' }, `${count(n_done)} of ${count(n_queue)}`),
      isTimed && line(`Left at your pace: ${timeText(seconds_left)}`),
      n_skipped + n_flagged > 0 && element('p', { class: 'panel-links' }, ...more),
    )
  }

  _showMachine() {
    const { machine } = this.app.status
    const { n_auto, n_people, n_apart, n_open, n_newly_auto, share, target } = machine
    put(this._machine,
      element('p', { class: 'figure' }, `${percent(share)} by itself`),
      line(
        `Of all answers, at the target of ${percent(target)}; drawn ones are for people too.`,
      ),
      n_newly_auto > 0 && line(`${count(n_newly_auto)} of them it could not at the start.`),
      n_open > 0 &&
        muted(
          `If you stop now: ${count(n_auto)} by the machine, ${count(n_people)} by people, ` +
            `${n_apart ? `${count(n_apart)} to settle, ` : ''}${count(n_open)} not coded.`,
        ),
    )
  }

  _showLearning() {
    const { learning, round } = this.app.status
    const isRunning = learning.state === 'running'
    this._learn_button.setAttribute('aria-disabled', String(isRunning))
    put(this._learn_button, isRunning ? 'Learning' : 'Learn now')
    const text = learningText(learning)
    if (this._learning.textContent !== text) this._learning.textContent = text
    if (round !== this._round) {
      this._round = round
      this.app.announce('The machine has learnt from the decisions. Suggestions are new.')
    }
  }

  async _learn() {
    toAnswer()
    if (this.app.status.learning.state === 'running') return
    try {
      this.app.setStatus(await this.app.api.send('POST', '/api/learn', {}))
    } catch (error) {
      this._learning.textContent = problem(error)
    }
  }
}

/** @param {string} [style] */
export const exportLinks = (style) =>
  EXPORTS.map(([kind, name]) =>
    element('a', { class: style, href: `/api/export?kind=${kind}`, download: true }, name),
  )

/** @param {string} title
 * @param {...Node} body */
function part(title, ...body) {
  return element('section', { class: 'panel-part' }, element('h2', {}, title), ...body)
}

/** @param {Status['learning']} learning */
function learningText({ state, message, since, every }) {
  if (state === 'running') return 'It is learning from the decisions so far. Go on meanwhile.'
  if (state === 'failed') return `It could not learn: ${message}`
  if (every <= 0) return `${count(since)} decisions since it last learnt.`
  const left = Math.max(0, every - since)
  const decisions = left === 1 ? 'decision' : 'decisions'
  return left
    ? `It learns again after ${count(left)} more ${decisions}.`
    : 'It learns again with the next decision.'
}

/** The verified accuracy in words, with a picture of its interval.
 * @param {Audit} audit
 * @returns {Node[]} */
function auditParts({ n_drawn, n_left, accuracy, low, high, target, headline, text }) {
  const drawn = `${count(n_drawn - n_left)} of ${count(n_drawn)} drawn at random are decided.`
  const words = [line(text), muted(drawn)]
  if (!headline || accuracy == null || low == null || high == null || target == null)
    return words
  const figure = element('p', { class: 'figure' }, headline)
  return [figure, intervalPicture(accuracy, low, high, target), ...words]
}

/** A scale from 0 to 100 % with the interval, the accuracy and the target; the words beside say it.
 * @param {number} accuracy
 * @param {number} low
 * @param {number} high
 * @param {number} target */
function intervalPicture(accuracy, low, high, target) {
  const at = (/** @type {number} */ share) => String(4 + 192 * share)
  const anchor = target > 0.5 ? 'end' : 'start'
  const label = svg('text', { x: at(target), y: '9', 'text-anchor': anchor })
  label.textContent = `target ${percent(target)}`
  const picture = svg('svg', { viewBox: '0 0 200 34', class: 'interval', 'aria-hidden': 'true' })
  picture.append(
    svg('line', { class: 'scale', x1: at(0), x2: at(1), y1: '22', y2: '22' }),
    svg('line', { class: 'range', x1: at(low), x2: at(high), y1: '22', y2: '22' }),
    svg('line', { class: 'target', x1: at(target), x2: at(target), y1: '13', y2: '31' }),
    label,
    svg('circle', { class: 'point', cx: at(accuracy), cy: '22', r: '4' }),
  )
  return picture
}

/** @param {string} tag
 * @param {Record<string, string>} attributes */
function svg(tag, attributes) {
  const made = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  return made
}
