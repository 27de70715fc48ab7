/** How many calls run at once, since a bucket takes time to answer. */
const AT_ONCE = 4;

/** Runs the work for each item, a few at once. After a failure no further work is begun, and the error is thrown. */
export async function severalAtOnce<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  let hasFailed = false;
  const take = async () => {
    for (const item of left) {
      if (hasFailed) return;
      await work(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
}
