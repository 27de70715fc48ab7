import { CompiledQuery, type Kysely, type QueryResult, type RawBuilder, sql } from 'kysely';
import type { Tables } from './types.ts';

/**
 * Returns a function that executes a statement. Its text is built once, because building it for each call would take half as long
 * as the database takes to answer. `build` gets a placeholder for each value, and is called at the first execution.
 */
export function statement<Values extends object, Row>(
  build: (placeholders: { [Name in keyof Values]: RawBuilder<Values[Name]> }) => RawBuilder<Row>,
): (database: Kysely<Tables>, values: Values) => Promise<QueryResult<Row>> {
  let built: CompiledQuery | undefined;
  return (database, values) => {
    built ??= build(placeholders as never).compile(database);
    const parameters = built.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    );
    return database.executeQuery<Row>(CompiledQuery.raw(built.sql, parameters));
  };
}

/** The placeholder of a value, used while a statement is being built. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Returns a placeholder for any property name. */
const placeholders = new Proxy({}, { get: (_, name) => sql.val(new Placeholder(String(name))) });
