/** The program of `npm run bench`. */
import '../bench/main.ts';
