// The shapes of what the server sends; for checks of types only, never served.

export interface Code {
  code: string
  name: string
  description: string
  new: boolean
}

export interface Study {
  coder: string
  table: string
  store_id: string
  update: string // the command that lets the model learn from it
  n_items: number
  codes: Code[]
  settings: Settings
}

export interface Settings {
  order?: 'alike' | 'unsure' | 'file'
  codes?: 'likely' | 'fixed'
  others?: 'again' | 'leave'
  keys?: Record<string, string>
  keys_on?: boolean
  theme?: 'auto' | 'light' | 'dark'
  at?: number
}

export interface Progress {
  n_queue: number
  n_done: number
  n_open: number
  n_skipped: number
  n_flagged: number
  n_disagree: number
  seconds_left: number | null
  last: string // what an undo would take back
}

export interface Machine {
  n_auto: number
  n_auto_shown: number // without those that are drawn and blind
  n_people: number
  n_apart: number // to settle
  n_open: number
  n_newly_auto: number
  share: number
  target: number
}

export interface Audit {
  n_drawn: number
  n_left: number
  n_checked?: number
  n_right?: number
  n_open?: number
  accuracy?: number
  low?: number
  high?: number
  target?: number
  verdict?: string | null
  needed?: number | null
  withdrawn: boolean
  headline: string
  text: string
}

export interface Status {
  seq: number
  round: number
  learning: {state: 'idle' | 'running' | 'failed', message: string, since: number, every: number}
  progress: Progress
  machine: Machine
  n_codes: number
  audit: Audit | null
}

export interface Suggestion {
  round: number
  codes: string[]
  doubt_words: string
  why: string
  next: string[][]
  nearest: {text: string, codes: string[]}[]
  likely: string[]
}

export interface ItemView {
  item: number
  text: string
  show: [string, string][]
  state: 'open' | 'done' | 'skipped'
  codes: string[] | null
  flag: boolean
  note: string
  seen: number
  drawn: boolean
  blind: boolean
  suggestion: Suggestion | null
  given: string[] | null
  n_alike: number
  others: Side[]
  settled: boolean
  chosen?: string[] // by the page: what was on before an undo
}

export type Action = 'code' | 'skip' | 'flag' | 'unflag' | 'settle'

/** What is chosen for the answer on screen. */
export interface Choice {
  action: Action
  codes: string[]
  note: string
  seconds: number
}

/** What the page did, to be undone; what other views did has no `before`. */
export interface Act {
  uid: string
  before: ItemView | null
  choice?: Choice
  words: string // what it was, to be named beside the button that undoes
  isRefused?: boolean
}

/** Codes that were switched and not accepted, and the saved ones upon which they were. */
export interface Draft {
  codes: string[]
  upon: string
}

/** What a browser remembers: for all tabs, or for one. */
export type Kind = 'localStorage' | 'sessionStorage'

/** What an element may hold; nothing is shown of null, undefined and false. */
export type Child = Node | string | number | null | undefined | false

/** A line of the list. */
export interface ListRow {
  item: number
  text: string
  state: 'open' | 'done' | 'skipped' | 'auto' | 'coded'
  codes: string[] | null
  by: 'people' | 'machine' | ''
  flag: boolean
  note: string
  drawn: boolean
}

/** An open answer with the same suggestion as another. */
export interface Alike {
  item: number
  text: string
  seen: number
}

/** What was done, and which items got the codes; without a uid nothing, as far as one knows. */
export interface Applied {
  uid: string
  items: ItemView[] // as they are now
  unsure: number[] // those that may have them, as no answer came
}

/** What a coder gave an answer. */
export interface Side {
  coder: string
  codes: string[]
}

/** An answer that coders coded differently. */
export interface Disagreement {
  item: number
  text: string
  seen: number
  by: Side[]
}

/** Krippendorff's alpha with its 95 % interval. */
export interface Alpha {
  value: number | null
  low: number | null
  high: number | null
}

/** How far coders agree on one code. */
export interface CodeAgreement {
  code: string
  counts: number[]
  agreement: number
  kappa: number | null
}

/** How far coders agree on the answers that they coded in common. */
export interface Agreement {
  coders: string[]
  n_answers: number
  n_same: number
  masi: Alpha
  nominal: Alpha
  codes: CodeAgreement[]
}

/** What a coder decided about an item; `seen` is that coder's last entry as the page knew it. */
export interface Decision {
  item: number
  seen: number
  action: Action
  codes: string[]
  note: string
  round: number
  seconds: number
}

/**
 * One thing to send: a decision; or, with `undoes`, that the act with this uid is undone ('' for
 * the last one of an earlier visit).
 */
export interface Letter {
  uid: string
  time: number
  decision: Decision | null
  undoes: string | null
  item: number // which it is about, or 0
}

/** A decision that the server did not take: with what it has instead, or with its reason. */
export interface Refusal {
  letter: Letter
  other: ItemView | null
  error: string
}

/** Who is told what becomes of letters. */
export interface Told {
  saved(receipt: Receipt, letter: Letter): void
  refused(refusal: Refusal): void
  changed(): void
}

export interface Receipt {
  item?: ItemView
  items?: ItemView[]
  status?: Status
}

export interface Route {
  view: 'coding' | 'list' | 'settle' | 'keys'
  item: number
}

export type Change = 'status' | 'settings' | 'codes' | 'saved'

/** What a view works with. */
export interface App {
  study: Study
  status: Status
  settings: Settings
  api: typeof import('./api.js')
  keys: import('./keys.js').Keys
  outbox: import('./outbox.js').Outbox // decisions on their way to the server
  queue: import('./queue.js').Queue // the answers that come next
  route: Route
  announce(text: string): void // say something to screen readers
  setStatus(status: Status): void // take a status that came with an answer
  saveSettings(patch: Settings): void // change and keep settings
  go(route: string): void // show another view: '#/', '#/item/17', '#/list'
  watch(listener: (what: Change) => void): () => void // be told of changes
  dialog(name: string, ...rest: any[]): Promise<any> // open settings, help or alike
}

export type Mount = (root: HTMLElement, app: App) => () => void
