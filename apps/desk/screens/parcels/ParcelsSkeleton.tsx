import { PageHeading } from '#ui/PageHeading.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { Stack } from '#ui/Text.tsx';

export function ParcelsSkeleton() {
  return (
    <>
      <PageHeading title="Parcels" />
      <Stack>
        <Bones count={8} className="whole" />
      </Stack>
    </>
  );
}
