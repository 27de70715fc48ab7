/** The program of `npm run test:cluster`. */
import '../../tests/cluster/main.ts';
