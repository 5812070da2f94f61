/** Returns a function that calls `make` once for each time in a row, such as a millisecond, and remembers its result. */
export function oncePerTime<Made>(make: (time: number) => Made): (time: number) => Made {
  let last: { readonly time: number; readonly made: Made } | undefined;
  return (time) => {
    if (last?.time !== time) last = { time, made: make(time) };
    return last.made;
  };
}
