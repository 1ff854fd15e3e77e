// What is shown when no answer is left, and what to do then.

import { answers, button, element, line, percent } from './elements.js'
import { exportLinks } from './panel.js'
/** @import { App } from './shapes.js' */

/** @param {App} app
 * @param {() => void} resume */
export function finished(app, resume) {
  const { queue } = app
  if (queue.isOffline)
    return waiting(
      'No more answers are loaded. They come when the server can be reached again; what you ' +
        'decided is kept.',
    )
  const { progress, audit, machine } = app.status
  const { n_open, n_skipped, n_queue } = progress
  if (queue.isWaiting) return waiting('Loading the next answers.')
  if (n_open && app.outbox.letters.length) return waiting('Saving what you decided.')
  const title = n_open
    ? `${answers(n_open)} still open`
    : n_skipped
      ? `${answers(n_skipped)} skipped, all others are decided`
      : n_queue
        ? 'All answers for people are decided'
        : 'There is no answer for people'
  const people = `People decided ${answers(machine.n_people)}`
  const rest = `the machine codes ${answers(machine.n_auto)} (${percent(machine.share)})`
  const more = n_open ? 'Go through the open ones' : 'Go through the skipped ones'
  return element('div', { class: 'card finished' },
    element('h2', { tabindex: '-1' }, title),
    line(`${people}, ${rest}.`),
    audit && line(audit.text),
    n_open + n_skipped > 0 && button(more, resume, 'primary'),
    nextSteps(app),
  )
}

/** @param {App} app */
function nextSteps(app) {
  const { n_disagree } = app.status.progress
  return element('div', { class: 'next-steps' },
    n_disagree > 0 &&
      line(
        element('a', { href: '#/settle' }, `Settle ${answers(n_disagree)} with different codes`),
      ),
    element('h3', {}, 'The coded table'),
    element('div', { class: 'dialog-buttons' }, ...exportLinks('button')),
    element('h3', {}, 'Let the model learn from what you decided'),
    element('pre', { tabindex: '0' }, element('code', {}, app.study.update)),
  )
}

/** @param {string} text */
function waiting(text) {
  return element('div', { class: 'card finished' }, element('p', { role: 'status' }, text))
}
