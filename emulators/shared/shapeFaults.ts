import { type Schema, Validator } from '@cfworker/json-schema';

/** Keywords whose errors are left out: they only say that a nested value is wrong, which has an error of its own. */
const OUTER = ['$ref', 'properties', 'items', 'additionalProperties'];

/**
 * Returns a function that lists where a value violates a JSON Schema (draft 7): at most five faults, none if the value conforms.
 * The schema is interpreted and not compiled: compiling one of Stripe's schemas takes longer than running a test file that checks
 * a few answers.
 */
export function shapeFaults(schema: Schema): (value: unknown) => string[] {
  let validator: Validator | undefined;
  return (value) => {
    validator ??= new Validator(schema, '7', false);
    // Converts the value to JSON and back: this leaves out undefined properties, which an HTTP body cannot have.
    return validator
      .validate(JSON.parse(JSON.stringify(value)))
      .errors.filter(({ keyword }) => !OUTER.includes(keyword))
      .slice(0, 5)
      .map(({ instanceLocation, keyword, error }) =>
        keyword === 'false' ? `${instanceLocation} is not known.` : `${instanceLocation} ${error}`,
      );
  };
}
