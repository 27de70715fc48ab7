import fastJsonStringify from 'fast-json-stringify';
import { type ZodType, z } from 'zod';

/**
 * Writes answers as their schema says: fields that it does not name are left out, a required one that is missing is a
 * fault (500). Values are not judged again: they are of our own making and typed, and the tests' client reads every answer by its
 * schema. Compiled with the first answer: a start would compile hundreds, most of them of failures that do not occur.
 */
export function answerWriter(schema: ZodType): (data: unknown) => string {
  let write: ((data: unknown) => string) | undefined;
  return (data) => {
    write ??= fastJsonStringify(z.toJSONSchema(schema, { target: 'draft-7' }) as fastJsonStringify.AnySchema);
    return write(data);
  };
}
