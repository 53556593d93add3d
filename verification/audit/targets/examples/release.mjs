// A target in JavaScript, for covassay: covassay audit 'exec:node release.mjs' --mechanism entrywise-laplace --epsilon 1
//
// It reads requests and writes replies, one line of JSON each. It releases the second moment of rows in the unit ball,
// with Laplace noise of scale 2d/(n epsilon) on every entry. Not for production: the noise is floating point.

import { createInterface } from "node:readline";

function generator(seed) { // splitmix64: numbers in (0, 1)
  let state = BigInt(seed);
  return () => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = BigInt.asUintN(64, (state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return (Number((z ^ (z >> 31n)) >> 11n) + 0.5) / 2 ** 53;
  };
}

function secondMoment(x) {
  const d = x[0].length;
  const moment = Array.from({ length: d }, () => new Array(d).fill(0));
  for (const row of x) {
    const shrink = 1 / Math.max(1, Math.hypot(...row)); // a longer row gets length 1
    for (let i = 0; i < d; i++)
      for (let j = 0; j < d; j++) moment[i][j] += (shrink * row[i] * shrink * row[j]) / x.length;
  }
  return moment;
}

function answer({ x, epsilon, seed, seeds }) {
  if (!x.length || !x[0].length || !(epsilon > 0)) return { error: "no table of numbers, or no budget" };
  const moment = secondMoment(x);
  const scale = (2 * x[0].length) / (x.length * epsilon);
  const draw = (seed) => {
    const random = generator(seed);
    return moment.map((row) => row.map((v) => v + scale * (Math.log(random()) - Math.log(random()))));
  };
  return seeds ? { outputs: seeds.map(draw) } : { output: draw(seed), batch: 1000 };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(answer(JSON.parse(line)))); // one line, and node writes it at once
}
