import { PageHeading } from '#ui/PageHeading.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { Stack } from '#ui/Text.tsx';

export function StaffSkeleton() {
  return (
    <>
      <PageHeading title="Staff" />
      <Stack>
        <Bones count={8} className="whole" />
      </Stack>
    </>
  );
}
