/** `npm run test:faults`. */
import '../faults/main.ts';
