export type StoryStep = string;
export type StoryCause = string;
export type StoryDetail = object;
