import { PageHeading } from '#ui/PageHeading.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { Stack } from '#ui/Text.tsx';

export function InvitationsSkeleton() {
  return (
    <>
      <PageHeading title="Invitations" />
      <Stack>
        <Bones count={10} className="whole" />
      </Stack>
    </>
  );
}
