import { invalid } from './errors.ts';

/** A decoded form before its types are known: text, lists and named values. */
export type FormValue = string | FormValue[] | FormTree;
export type FormTree = { [name: string]: FormValue };

/**
 * Decodes `a=1&b[c]=2&d[0]=3&d[]=4`, the encoding of the v1 API, into a tree. Numbered and empty brackets make lists. The tree's
 * objects have no prototype, so that a parameter named `__proto__` is an ordinary name.
 */
export function decodeForm(text: string): FormTree {
  const tree: FormTree = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const path = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
    if (!path) throw invalid(`Invalid parameter name: ${name}`, name);
    const keys = [path[1]!, ...[...path[2]!.matchAll(/\[([^[\]]*)\]/g)].map((match) => match[1]!)];
    put(tree, keys, value);
  }
  return listsIn(tree) as FormTree;
}

function put(tree: FormTree, [key, ...rest]: string[], value: string): void {
  const name = key === '' ? String(Object.keys(tree).length) : key!;
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const inner = tree[name];
  if (typeof inner !== 'object') tree[name] = Object.create(null) as FormTree;
  put(tree[name] as FormTree, rest, value);
}

/** Turns every tree whose names are 0, 1, 2 … into a list. */
function listsIn(value: FormValue): FormValue {
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const names = Object.keys(value);
  for (const name of names) value[name] = listsIn(value[name]!);
  const isList = names.length > 0 && names.every((name, index) => name === String(index));
  return isList ? names.map((name) => value[name]!) : value;
}

/** Encodes a value as a form of the v1 API, for calls without the official client. `null` and `undefined` are left out. */
export function encodeForm(value: Record<string, unknown>): string {
  const form = new URLSearchParams();
  const add = (name: string, inner: unknown): void => {
    if (inner === null || inner === undefined) return;
    if (typeof inner !== 'object') form.append(name, String(inner));
    else for (const [key, item] of Object.entries(inner)) add(`${name}[${key}]`, item);
  };
  for (const [name, inner] of Object.entries(value)) add(name, inner);
  return form.toString();
}
