import fastJsonStringify from 'fast-json-stringify';
import { type ZodType, z } from 'zod';

/**
 * Returns a function that serializes answers by their schema. The function leaves out fields that are not in the schema, and
 * throws if a required field is missing (the call is then answered with 500). It does not validate values, since the type checker
 * checks the code that makes them, and the tests validate every answer. The serializer is compiled at its first use, because most
 * serializers are for failures that hardly ever occur, and once for all calls and servers of the process.
 */
export function answerWriter(schema: ZodType): (data: unknown) => string {
  return (data) => (writers.get(schema) ?? compile(schema))(data);
}

const writers = new WeakMap<ZodType, (data: unknown) => string>();

function compile(schema: ZodType): (data: unknown) => string {
  const shape = z.toJSONSchema(schema, { target: 'draft-7' }) as fastJsonStringify.AnySchema;
  const write = fastJsonStringify(shape);
  writers.set(schema, write);
  return write;
}
