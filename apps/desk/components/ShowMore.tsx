import { Alert } from '#ui/Alert.tsx';
import { Button } from '#ui/Button.tsx';
import { Stack } from '#ui/Text.tsx';

/** The button below a list that has further rows ({@link useMore}). `onPress` loads them. */
export function ShowMore({
  list: { isEnd, isBusy, fault },
  onPress,
}: {
  list: { isEnd: boolean; isBusy: boolean; fault: string | null };
  onPress: () => void;
}) {
  if (isEnd) return null;
  return (
    <Stack>
      {fault && <Alert isAnswer>{fault}</Alert>}
      <Button variant="second" slim busy={isBusy && 'Loading…'} onClick={onPress}>
        Show more
      </Button>
    </Stack>
  );
}
