/** What a list yields, a hundred at a time: for what is asked of the database once for all of them. */
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
