/** Returns a function that does its work once for several calls with one text after another. */
export function rememberLast<Result>(read: (text: string) => Result): (text: string) => Result {
  let last = '';
  let result = read(last);
  return (text) => {
    if (text !== last) [last, result] = [text, read(text)];
    return result;
  };
}
