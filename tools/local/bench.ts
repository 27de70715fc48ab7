/** `npm run bench`. */
import '../bench/main.ts';
