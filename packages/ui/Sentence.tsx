import { Fragment, type ReactNode } from 'react';

/** A whole sentence that contains elements. Each `{name}` in `text` is replaced by the value of that name. */
export function Sentence({ text, values }: { text: string; values: Record<string, ReactNode> }) {
  return text.split(/\{(\w+)\}/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other names
    <Fragment key={index}>{index % 2 === 0 ? part : values[part]}</Fragment>
  ));
}
