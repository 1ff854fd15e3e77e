// Settings: the order of the answers and of the codes, how the page looks, and the keys.

import { showDialog } from './dialog.js'
import { button, element, put, table } from './elements.js'
import { ACTIONS, keyName } from './keys.js'
/** @import { ActionName } from './keys.js' */
/** @import { App, Settings } from './shapes.js' */

/** @typedef {readonly [value: string, name: string, does: string]} Choice */

/** @type {{field: 'order' | 'codes' | 'others' | 'theme', title: string, choices: Choice[]}[]} */
const FIELDS = [
  { field: 'order', title: 'Order of the answers', choices: [
    ['alike', 'Alike together', 'Answers with the same suggestion follow each other, so that ' +
      'many of a kind go quickly.'],
    ['unsure', 'Least sure first', 'The machine learns most from what it knows least; these ' +
      'take longest.'],
    ['file', 'As in the file', 'From the first row to the last.'],
  ] },
  { field: 'codes', title: 'Order of the codes', choices: [
    ['likely', 'Most likely first', 'The codes that you probably need have the first keys; they ' +
      'change from answer to answer.'],
    ['fixed', 'Always the same', 'Each code keeps its place and its key, as in the codebook.'],
  ] },
  { field: 'others', title: 'Answers that others have decided', choices: [
    ['again', 'Decide them too', 'Both of you code them, and your agreement can be told. You see ' +
      'what others gave after your own decision.'],
    ['leave', 'Leave them out', 'They count as done, and you share the work.'],
  ] },
  { field: 'theme', title: 'Colours', choices: [
    ['auto', 'As the system', ''],
    ['light', 'Light', ''],
    ['dark', 'Dark', ''],
  ] },
]
const DEFAULTS = { order: 'alike', codes: 'likely', others: 'again', theme: 'auto' }
// The keys that browsers, screen readers and dialogs need themselves.
const RESERVED = new Set(
  'Tab Escape Shift Control Alt Meta CapsLock Dead Process Unidentified'.split(' '),
)

/** Open the dialog; what is changed holds at once.
 * @param {App} app */
export async function open(app) {
  const keys = new KeyChoice(app)
  const body = [...FIELDS.map((field) => choiceField(app, field)), keys.fieldset]
  await showDialog({ title: 'Settings', name: 'settings', closeText: 'Done' }, body).closed
}

/** @param {App} app
 * @param {typeof FIELDS[number]} about */
function choiceField(app, { field, title, choices }) {
  const now = app.settings[field] ?? DEFAULTS[field]
  const rows = choices.map(([value, name, does]) => {
    const on = { change: () => app.saveSettings(/** @type {Settings} */ ({ [field]: value })) }
    const id = `set-${field}-${value}`
    const described = does ? `${id}-does` : null
    return element('div', { class: 'option' },
      element('input', {
        type: 'radio',
        name: field,
        id,
        value,
        checked: value === now,
        'aria-describedby': described,
        on,
      }),
      element('label', { for: id }, name),
      does && element('p', { id: described, class: 'muted' }, does),
    )
  })
  return element('fieldset', { class: `set set-${field}` }, element('legend', {}, title), ...rows)
}

class KeyChoice {
  /** @param {App} app */
  constructor(app) {
    this.app = app
    this._message = element('p', { class: 'key-message', role: 'status' })
    /** @type {Map<ActionName, HTMLButtonElement>} */
    this._buttons = new Map()
    /** @type {ActionName | null} */
    this._waiting = null
    const isOn = app.settings.keys_on ?? true
    const change = () => {
      app.saveSettings({ keys_on: onOff.checked })
      this._show()
    }
    const onOff = element('input', {
      type: 'checkbox',
      id: 'set-keys-on',
      checked: isOn,
      'aria-describedby': 'set-keys-does',
      on: { change },
    })
    const reset = button('All keys as at first', () => this._reset(), 'quiet')
    const caption = element('caption', { class: 'sr-only' }, 'Keys of actions')
    this.fieldset = element('fieldset', { class: 'set set-keys' },
      element('legend', {}, 'Keys'),
      element('div', { class: 'option' },
        onOff,
        element('label', { for: 'set-keys-on' }, 'Single keys work'),
        element('p', { id: 'set-keys-does', class: 'muted' },
          'Switch them off if you dictate, or if keys get pressed by accident. Tab, Enter and ' +
            'Space on buttons always work.',
        ),
      ),
      table('key-table', caption, ['What it does', 'Key'], this._makeRows()),
      this._message,
      reset,
    )
    this._show()
  }

  _makeRows() {
    return Object.entries(ACTIONS).map(([name, { does }]) => {
      const action = /** @type {ActionName} */ (name)
      const on = {
        click: () => this._wait(action),
        keydown: (/** @type {KeyboardEvent} */ event) => this._press(event, action),
        blur: () => this._waiting === action && this._stop(''),
      }
      const button = element('button', { class: 'key-button', on })
      button.dataset.action = action
      this._buttons.set(action, button)
      return element('tr', {}, element('th', { scope: 'row' }, does), element('td', {}, button))
    })
  }

  _show() {
    for (const [action, button] of this._buttons) {
      const { does } = ACTIONS[action]
      const isWaiting = action === this._waiting
      const shown = isWaiting ? 'Press a key' : keyName(this.app.keys.key(action)) || 'none'
      button.textContent = shown
      const label = isWaiting ? `Press the new key for: ${does}` : `${does}: ${shown}. Change`
      button.setAttribute('aria-label', label)
    }
  }

  /** @param {ActionName} action */
  _wait(action) {
    this._waiting = action
    put(this._message, 'Press the new key. Backspace takes it away, Esc leaves it as it is.')
    this._show()
  }

  /** @param {string} text */
  _stop(text) {
    this._waiting = null
    put(this._message, text)
    this._show()
  }

  /** @param {KeyboardEvent} event
   * @param {ActionName} action */
  _press(event, action) {
    if (this._waiting !== action || event.isComposing) return
    if (event.key === 'Tab' || event.ctrlKey || event.metaKey || event.altKey) return
    // Keep Enter from pressing the button again, and Escape from closing the dialog.
    event.preventDefault()
    event.stopPropagation()
    if (event.key === 'Shift') return
    const isLeft = event.key === 'Escape'
    this._stop(isLeft ? 'Left as it was.' : this._take(action, event.key))
  }

  /** Give an action a key; returned is what came of it, in words.
   * @param {ActionName} action
   * @param {string} pressed */
  _take(action, pressed) {
    const isNone = pressed === 'Backspace'
    const key = isNone ? '' : pressed.length === 1 ? pressed.toLowerCase() : pressed
    const problem = this._problem(action, key)
    if (problem) return problem
    const moved = this.app.keys.codeKeys.includes(key) ? ' The keys of codes move on.' : ''
    this.app.saveSettings({ keys: { ...this.app.settings.keys, [action]: key } })
    const { does } = ACTIONS[action]
    return key ? `${keyName(key)} now does: ${does}.${moved}` : `No key for: ${does}.`
  }

  /** Why an action cannot have a key; '' if it can.
   * @param {ActionName} action
   * @param {string} key */
  _problem(action, key) {
    if (!key) return ''
    if (RESERVED.has(key)) return `${keyName(key)} is needed by the browser. Choose another key.`
    if (/^[0-9]$/.test(key)) return `${key} is the key of a code. Choose a letter, or another sign.`
    const other = Object.keys(ACTIONS).find(
      (name) => name !== action && this.app.keys.key(/** @type {ActionName} */ (name)) === key,
    )
    if (!other) return ''
    const { does } = ACTIONS[/** @type {ActionName} */ (other)]
    return `${keyName(key)} is taken by: ${does}. Give that one another key first.`
  }

  _reset() {
    this.app.saveSettings({ keys: {} })
    this._stop('All keys are as at first.')
  }
}
