import { type Schema, Validator } from '@cfworker/json-schema';

/** Keywords that only say that something within them is wrong, which is told as well. */
const OUTER = ['$ref', 'properties', 'items', 'additionalProperties'];

/**
 * What is wrong with a value against a JSON Schema (draft 7), five faults at most; empty when it has the shape. The schema is
 * interpreted: compiling one of Stripe's costs more than the tests of a file that has a few answers checked by it.
 */
export function shapeFaults(schema: Schema): (value: unknown) => string[] {
  let validator: Validator | undefined;
  return (value) => {
    validator ??= new Validator(schema, '7', false);
    // A body is JSON: what is undefined is not in it.
    return validator
      .validate(JSON.parse(JSON.stringify(value)))
      .errors.filter(({ keyword }) => !OUTER.includes(keyword))
      .slice(0, 5)
      .map(({ instanceLocation, keyword, error }) =>
        keyword === 'false' ? `${instanceLocation} is not known.` : `${instanceLocation} ${error}`,
      );
  };
}
