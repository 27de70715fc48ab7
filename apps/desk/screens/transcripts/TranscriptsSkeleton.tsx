import { PageHeading } from '#ui/PageHeading.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { Stack } from '#ui/Text.tsx';
import { TranscriptTabs } from './TranscriptTabs.tsx';

export function TranscriptsSkeleton() {
  return (
    <>
      <PageHeading title="Transcripts" />
      <TranscriptTabs />
      <Stack>
        <Bones count={8} className="whole" />
      </Stack>
    </>
  );
}
