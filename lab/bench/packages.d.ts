// Only `npm run lab -- bench` installs these packages. These declarations allow type checks without them.
declare module 'undici' {
  export * from 'undici-types';
}
declare module 'lighthouse';
