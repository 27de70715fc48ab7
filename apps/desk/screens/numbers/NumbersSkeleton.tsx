import { PageHeading } from '#ui/PageHeading.tsx';
import { Bones } from '#ui/Skeleton.tsx';
import { Section } from '../../components/Section.tsx';

export function NumbersSkeleton() {
  return (
    <>
      <PageHeading title="Numbers" />
      <Section title="Joins">
        <Bones count={6} />
      </Section>
    </>
  );
}
