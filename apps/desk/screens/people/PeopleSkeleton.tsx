import { PageHeading } from '#ui/PageHeading.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { Stack } from '#ui/Text.tsx';

export function PeopleSkeleton() {
  return (
    <>
      <PageHeading title="People" />
      <Stack>
        <Bones count={8} className="whole" />
      </Stack>
    </>
  );
}
