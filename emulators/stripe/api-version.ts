/** The only API version that the emulator supports: the one that the installed `stripe` package pins. */
export const ApiVersion = '2026-10-28.endive';
