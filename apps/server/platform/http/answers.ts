import fastJsonStringify from 'fast-json-stringify';
import { type ZodType, z } from 'zod';

/**
 * Returns a function that writes answers as JSON by their schema. It leaves out fields that the schema does not name, and throws
 * (500) if a required field is missing. It does not validate values: our own typed code makes them, and the tests check every
 * answer by its schema.
 * Compiles at the first answer, since compiling at the start would cover hundreds of answers, most of them failures that never
 * occur.
 */
export function answerWriter(schema: ZodType): (data: unknown) => string {
  let write: ((data: unknown) => string) | undefined;
  return (data) => {
    write ??= fastJsonStringify(z.toJSONSchema(schema, { target: 'draft-7' }) as fastJsonStringify.AnySchema);
    return write(data);
  };
}
