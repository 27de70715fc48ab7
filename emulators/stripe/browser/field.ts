import { freshId, make } from './dom.ts';

export interface FieldOptions {
  label: string;
  autocomplete?: string;
  inputmode?: string;
  placeholder?: string;
  /** Formats the typed digits. The caret stays after the same digit. */
  format?: (digits: string) => string;
  /** The choices of a select, as value and text. Without them the control is a text input. */
  options?: readonly (readonly [string, string])[];
  optional?: boolean;
}

type Control = HTMLInputElement | HTMLSelectElement;

/** A labelled control with its error below. */
export class Field {
  readonly root: HTMLDivElement;
  readonly control: Control;
  readonly wrap: HTMLDivElement;
  readonly #label: HTMLLabelElement;
  readonly #error: HTMLParagraphElement;
  #before = '';

  constructor(options: FieldOptions, onInput: () => void, onLeave: () => void) {
    const id = freshId();
    this.#label = make('label', { for: id, class: 'Label' }, options.label);
    this.control = options.options ? makeSelect(options.options) : make('input', { type: 'text' });
    this.#error = make('p', { id: `${id}-error`, class: 'Error', role: 'alert' });
    this.#error.hidden = true;
    this.control.id = id;
    this.control.classList.add('Input');
    for (const name of ['autocomplete', 'inputmode', 'placeholder'] as const) {
      const value = options[name];
      if (value !== undefined) this.control.setAttribute(name, value);
    }
    this.control.setAttribute('aria-required', String(!options.optional));
    this.control.setAttribute('spellcheck', 'false');
    this.wrap = make('div', { class: 'InputWrap' }, this.control);
    this.root = make('div', { class: 'Field' }, this.#label, this.wrap, this.#error);
    this.control.addEventListener('input', (event) => {
      if (options.format && this.control instanceof HTMLInputElement) this.#reformat(options.format, event);
      this.#before = this.control.value;
      onInput();
    });
    this.control.addEventListener('blur', onLeave);
  }

  get value(): string {
    return this.control.value.trim();
  }

  set value(value: string) {
    this.control.value = value;
    this.#before = value;
  }

  get label(): string {
    return this.#label.textContent ?? '';
  }

  setLabel(label: string): void {
    this.#label.textContent = label;
  }

  /** Shows an error; undefined removes it. */
  showError(message: string | undefined): void {
    this.#error.textContent = message ?? '';
    this.#error.hidden = !message;
    if (message) {
      this.control.setAttribute('aria-invalid', 'true');
      this.control.setAttribute('aria-describedby', this.#error.id);
    } else {
      this.control.removeAttribute('aria-invalid');
      this.control.removeAttribute('aria-describedby');
    }
  }

  get hasError(): boolean {
    return !this.#error.hidden;
  }

  #reformat(format: (digits: string) => string, event: Event): void {
    const input = this.control as HTMLInputElement;
    const caret = input.selectionStart ?? input.value.length;
    let digits = input.value.replace(/\D/g, '');
    let before = input.value.slice(0, caret).replace(/\D/g, '').length;
    const deleting = event instanceof InputEvent && event.inputType === 'deleteContentBackward';
    // Deleting a separator also deletes the digit before it; otherwise the key would seem to do nothing.
    if (deleting && digits === this.#before.replace(/\D/g, '') && before > 0) {
      digits = digits.slice(0, before - 1) + digits.slice(before);
      before -= 1;
    }
    const atEnd = caret >= input.value.length;
    const formatted = deleting && atEnd ? format(digits).replace(/\D+$/, '') : format(digits);
    input.value = formatted;
    if (document.activeElement !== input) return;
    const position = atEnd ? formatted.length : positionAfter(formatted, before);
    input.setSelectionRange(position, position);
  }
}

function positionAfter(text: string, digits: number): number {
  let seen = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (seen === digits) return index;
    if (/\d/.test(text[index]!)) seen += 1;
  }
  return text.length;
}

function makeSelect(options: readonly (readonly [string, string])[]): HTMLSelectElement {
  return make('select', {}, ...options.map(([value, text]) => make('option', { value }, text)));
}
