/** The bytes of the file (apps/desk/rsbuild.config.ts). */
declare module '*.wasm' {
  const bytes: Uint8Array;
  export default bytes;
}
