/** Reads settings by name. Each wrong setting adds a sentence to `faults`. */
export interface SettingReader {
  /** Returns the trimmed value of a setting; undefined if it is missing or empty. */
  get(name: string): string | undefined;
  fault(text: string): void;
  integer(name: string, fallback: number, min: number, max: number): number;
  choice<T extends string>(name: string, fallback: T, values: readonly T[]): T;
  /** Reads a setting that is 1 (true) or 0 (false, the default). */
  flag(name: string): boolean;
  /** Returns a URL with one of these protocols (`https:`), without a final slash; undefined if it is missing or wrong. */
  address(name: string, protocols: readonly string[]): string | undefined;
  readonly faults: readonly string[];
}

export function settingReader(env: NodeJS.ProcessEnv): SettingReader {
  const faults: string[] = [];
  const get = (name: string) => (env[name]?.trim() ? env[name].trim() : undefined);
  const fault = (text: string) => void faults.push(text);

  const integer = (name: string, fallback: number, min: number, max: number) => {
    const value = get(name);
    if (value === undefined) return fallback;
    if (/^\d+$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    fault(`${name} must be a whole number from ${min} to ${max}, not "${value}".`);
    return fallback;
  };
  const choice = <T extends string>(name: string, fallback: T, values: readonly T[]): T => {
    const value = get(name) as T | undefined;
    if (value === undefined || values.includes(value)) return value ?? fallback;
    fault(`${name} must be one of ${values.join(', ')}, not "${value}".`);
    return fallback;
  };
  const flag = (name: string) => choice(name, '0', ['0', '1']) === '1';
  const address = (name: string, protocols: readonly string[]) => {
    const value = get(name);
    if (value === undefined) return undefined;
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value.replace(/\/$/, '');
    fault(`${name} must be an address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}.`);
    return undefined;
  };
  return { get, fault, integer, choice, flag, address, faults };
}
