/** An instruction of a Dockerfile, with its options (`--from=build`) apart from the rest. */
export interface Instruction {
  name: InstructionName;
  options: Record<string, string>;
  /** The remaining text, in one line. */
  rest: string;
}

/** The instructions that our Dockerfile may use. All others are refused rather than ignored. */
const names = [
  'FROM',
  'ARG',
  'LABEL',
  'ENV',
  'WORKDIR',
  'COPY',
  'RUN',
  'USER',
  'VOLUME',
  'EXPOSE',
  'HEALTHCHECK',
  'CMD',
] as const;
export type InstructionName = (typeof names)[number];

/** Returns a Dockerfile's instructions. Throws for a line that is not one of the allowed instructions. */
export function parseDockerfile(text: string): Instruction[] {
  return text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, given, rest] = /^([A-Z]+)((?:\s+--[a-z-]+=\S+)*)\s+(.*)$/.exec(line) ?? [];
      if (!names.includes(name as InstructionName))
        throw new Error(`Not an instruction that is known: ${line}`);
      const options = Object.fromEntries(
        [...given!.matchAll(/--([a-z-]+)=(\S+)/g)].map(([, option, value]) => [option!, value!]),
      );
      return { name: name as InstructionName, options, rest: rest! };
    });
}

/** Returns the pairs of ENV or LABEL: `A=b C="d e"`. */
export function pairsIn(rest: string): Record<string, string> {
  return Object.fromEntries(
    [...rest.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(([, name, quoted, plain]) => [
      name!,
      quoted ?? plain!,
    ]),
  );
}

/** Returns the settings of a Dockerfile's last stage, which becomes the image. */
export function imageOf(instructions: readonly Instruction[]) {
  const stage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const last = (name: InstructionName) => stage.findLast((each) => each.name === name)?.rest ?? '';
  const words = (name: InstructionName): string[] => JSON.parse(last(name).replace(/^CMD /, ''));
  return {
    env: pairsIn(
      stage
        .filter(({ name }) => name === 'ENV')
        .map(({ rest }) => rest)
        .join(' '),
    ),
    workdir: last('WORKDIR'),
    user: last('USER'),
    volumes: words('VOLUME'),
    port: Number(last('EXPOSE')),
    healthcheck: words('HEALTHCHECK'),
    cmd: words('CMD'),
  };
}
