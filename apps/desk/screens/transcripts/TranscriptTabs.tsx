import { Tabs } from '../../components/Tabs.tsx';

export function TranscriptTabs() {
  return (
    <Tabs
      label="Transcripts"
      tabs={[
        { to: '/transcripts', name: 'To decide' },
        { to: '/transcripts/overdue', name: 'Overdue' },
        { to: '/transcripts/decided', name: 'Decided' },
      ]}
    />
  );
}
