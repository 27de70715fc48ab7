/** An error as S3 answers it (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html). */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** What the emulator does not stand in for. Never a friendly guess. */
export function notEmulated(what: string): S3Error {
  return new S3Error(501, 'NotImplemented', `The emulator does not stand in for ${what}.`);
}
