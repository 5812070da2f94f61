import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

function styled(style: Style): (text: string) => string {
  return (text) => styleText(style, text, { stream: process.stdout });
}

/** Styles for the terminal; plain text if stdout is not a terminal, or `NO_COLOR` is set. */
export const bold = styled('bold');
export const dim = styled('dim');
export const green = styled('green');
export const red = styled('red');

export function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
