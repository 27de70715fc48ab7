import fastJsonStringify from 'fast-json-stringify';
import { type ZodType, z } from 'zod';

const writers = new WeakMap<ZodType, (data: unknown) => string>();

/**
 * Writes answers as their schema says: fields that it does not name are left out, a required one that is missing is a
 * fault (500). Values are not judged again: they are of our own making and typed, and the tests' client reads every answer by its
 * schema. Written for a schema when it is first needed.
 */
export function answerWriter(schema: ZodType): (data: unknown) => string {
  return (data) => {
    let write = writers.get(schema);
    if (!write) {
      write = fastJsonStringify(z.toJSONSchema(schema, { target: 'draft-7' }) as fastJsonStringify.AnySchema);
      writers.set(schema, write);
    }
    return write(data);
  };
}
