import { PageHeading } from '#ui/PageHeading.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { Section } from '../../components/Section.tsx';

export function TodaySkeleton() {
  return (
    <>
      <PageHeading title="Today" />
      <Section title="To do">
        <Bones count={4} />
      </Section>
      <Section title="Notices">
        <Bones count={5} />
      </Section>
    </>
  );
}
