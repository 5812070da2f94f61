/** Returns a line as a terminal can show it. Attack: what others wrote overwrites a verdict. */
export function withoutControls(line: string): string {
  return line.replaceAll(/\p{Cc}/gu, (control) => {
    return `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
