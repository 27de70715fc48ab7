/** Groups a list into arrays of `size`, so that callers query the database once for each array. */
export async function* inPages<T>(list: AsyncIterable<T>, size = 100): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const item of list) {
    page.push(item);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
