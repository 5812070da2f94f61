const WORD = 2 ** 32;
const HEX_OF_WORD = 8;

/** Returns a random trace id: names, not secrets. */
export function randomTraceId(): string {
  return randomWord() + randomWord() + randomWord() + randomWord();
}

/** Returns a random span id. */
export function randomSpanId(): string {
  return randomWord() + randomWord();
}

/** Returns eight hexadecimal digits that are not all zero. */
function randomWord(): string {
  const word = Math.floor(Math.random() * (WORD - 1)) + 1;
  return word.toString(16).padStart(HEX_OF_WORD, '0');
}
