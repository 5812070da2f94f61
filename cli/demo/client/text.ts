import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

function styled(style: Style): (text: string) => string {
  return (text) => styleText(style, text, { stream: process.stdout });
}

/** Makes a text bold. All styles are plain text if stdout is not a terminal, or `NO_COLOR` is set. */
export const bold = styled('bold');
/** Makes a text dim. */
export const dim = styled('dim');
/** Makes a text green. */
export const green = styled('green');
/** Makes a text red. */
export const red = styled('red');

/** Indents every line. */
export function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
