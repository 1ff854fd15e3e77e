// The keys, as they are mapped now: in a dialog, and on a page that prints on one sheet.

import { showDialog } from './dialog.js'
import { element, fullName, line, put, table } from './elements.js'
import { ACTIONS, keyName } from './keys.js'
/** @import { ActionName } from './keys.js' */
/** @import { App, Mount } from './shapes.js' */

/** @param {App} app */
export async function open(app) {
  const print = element('a', { href: '#/keys' }, 'A page to print')
  const body = [...keyTable(app), line(print)]
  const { dialog, closed } = showDialog({ title: 'Keys', name: 'help' }, body)
  print.addEventListener('click', () => dialog.close())
  await closed
}

/** @type {Mount} The page to print. */
export function mount(root, app) {
  const show = () => {
    const on = { click: () => window.print() }
    put(root,
      element('section', { class: 'keys-page', 'aria-labelledby': 'keys-title' },
        element('h2', { id: 'keys-title' }, 'Keys of the review page'),
        element('button', { class: 'screen-only', on }, 'Print'),
        ...keyTable(app),
        line(
          'Every step works with the mouse as well, and with Tab, Enter and Space. Each ' +
            'decision is saved at once: you may close the page at any time and go on where you ' +
            'stopped.',
        ),
        codeKeys(app),
      ),
    )
  }
  show()
  return app.watch((what) => (what === 'settings' || what === 'codes') && show())
}

/** @param {App} app */
function keyTable(app) {
  const first = app.keys.codeKeys.slice(0, Math.min(3, app.study.codes.length))
  const codes = first.join(' ') + (app.study.codes.length > 3 ? ' …' : '')
  const rows = [keyRow(codes, 'Switch a code on or off; its key is on it')]
  for (const [name, { does }] of Object.entries(ACTIONS)) {
    const key = app.keys.key(/** @type {ActionName} */ (name))
    if (key) rows.push(keyRow(keyName(key), does))
  }
  rows.push(keyRow('Esc', 'Close a dialog, leave a field'))
  const off = 'Single keys are switched off. The settings switch them on again.'
  const notice = app.keys.enabled ? [] : [element('p', { class: 'notice screen-only' }, off)]
  const caption = element('caption', { class: 'sr-only' }, 'Keys and what they do')
  return [...notice, table('help-table', caption, ['Key', 'What it does'], rows)]
}

/** @param {string} key
 * @param {string} does */
function keyRow(key, does) {
  return element('tr', {},
    element('th', { scope: 'row' }, element('kbd', {}, key)),
    element('td', {}, does),
  )
}

/** The codes with their keys, if these do not change from answer to answer.
 * @param {App} app */
function codeKeys(app) {
  if ((app.settings.codes ?? 'likely') !== 'fixed') {
    return line(
      'The most likely codes have the first keys, so the key of a code changes from answer to ' +
        'answer. The settings can give each code a key of its own.',
    )
  }
  const keys = app.keys.codeKeys.slice(0, app.study.codes.length)
  const rows = keys.map((key, i) => {
    const name = element('span', { dir: 'auto' }, fullName(app.study.codes[i]))
    return element('li', {}, element('kbd', {}, key), ' ', name)
  })
  const left = app.study.codes.length - keys.length
  const more =
    left > 0 &&
    line(
      `${left} more codes have no key of their own: ` +
        `${keyName(app.keys.key('filter')) || 'the field above the codes'} finds them by typing.`,
    )
  return element('div', { class: 'code-keys' },
    element('h3', {}, 'Codes'),
    element('ul', {}, ...rows),
    more,
  )
}
