/**
 * How many items are processed at once. More than one, because most of the time is spent on waiting for answers of the S3 service.
 */
const AT_ONCE = 4;

/** Runs `work` for each item, several at once. After a failure no further item is started, and the error is thrown. */
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
