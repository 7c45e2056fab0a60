# The two libraries that users link. (Installation and find_package support are added here.)
