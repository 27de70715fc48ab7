import { sharedValue } from '#ui/sharedValue.ts';

/**
 * The reference of the server's last failure (`Failure['reference']`). The footer shows it even after the toast has disappeared.
 */
export const lastReference = sharedValue<string | null>(null);
