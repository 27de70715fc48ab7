/** An error in the form in which S3 returns it (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html). */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Returns the emulator's error for features that it does not support. It never guesses an answer. */
export function notEmulated(what: string): S3Error {
  return new S3Error(501, 'NotImplemented', `The emulator does not stand in for ${what}.`);
}
